/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256, as FIPS 180-4 describes it. */
#include "sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 64, WORDS = 16, ROUNDS = 64 };

/* The first 32 bits of the fractional parts of the cube roots of the first 64
 * primes (4.2.2), and of the square roots of the first 8 (5.3.3). */
static const uint32_t constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                    0xa54ff53a, 0x510e527f, 0x9b05688c,
                                    0x1f83d9ab, 0x5be0cd19};

static uint32_t rotate(uint32_t x, int bits)
{
    return x >> bits | x << (32 - bits);
}

/* W of 6.2.2, step 1: the message schedule. */
static void schedule(const unsigned char *block, uint32_t w[ROUNDS])
{
    for (int t = 0; t < WORDS; t++, block += 4)
        w[t] = (uint32_t) block[0] << 24 | (uint32_t) block[1] << 16 |
               (uint32_t) block[2] << 8 | block[3];
    for (int t = WORDS; t < ROUNDS; t++) {
        uint32_t a = w[t - 15], b = w[t - 2];

        w[t] = w[t - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[t - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

static void add_block(uint32_t hash[8], const unsigned char *block)
{
    uint32_t w[ROUNDS], v[8];

    schedule(block, w);
    memcpy(v, hash, sizeof(v));
    for (int t = 0; t < ROUNDS; t++) {
        uint32_t a = v[0], e = v[4];
        uint32_t t1 = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                      ((e & v[5]) ^ (~e & v[6])) + constants[t] + w[t];
        uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                      ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

        memmove(v + 1, v, 7 * sizeof(v[0]));
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        hash[i] += v[i];
}

void asp_sha256(const void *bytes, size_t len,
                unsigned char digest[ASP_SHA256_BYTES])
{
    const unsigned char *at = bytes;
    /* The rest, a 1 bit, zeros, and the length in bits: one block or two. */
    unsigned char tail[2 * BLOCK] = {0};
    size_t rest = len % BLOCK;
    size_t padded = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;
    uint32_t hash[8];

    memcpy(hash, initial, sizeof(hash));
    for (size_t left = len; left >= BLOCK; left -= BLOCK, at += BLOCK)
        add_block(hash, at);
    if (rest)
        memcpy(tail, at, rest);
    tail[rest] = 0x80;
    for (size_t i = 0; i < 8; i++)
        tail[padded - 1 - i] = (unsigned char) ((uint64_t) len * 8 >> 8 * i);
    for (size_t i = 0; i < padded; i += BLOCK)
        add_block(hash, tail + i);
    for (size_t i = 0; i < ASP_SHA256_BYTES; i++)
        digest[i] = (unsigned char) (hash[i / 4] >> (24 - 8 * (i % 4)));
}

const char *asp_sha256_hex(const unsigned char digest[ASP_SHA256_BYTES],
                           char buf[ASP_SHA256_HEX])
{
    for (size_t i = 0; i < ASP_SHA256_BYTES; i++)
        snprintf(buf + 2 * i, 3, "%02x", digest[i]);
    return buf;
}
