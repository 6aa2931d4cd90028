# SPDX-License-Identifier: BSD-3-Clause
"""Results as a text table, as a file of tab-separated values, as a plot."""
import collections
import os
import shutil
import subprocess

# A result: None for those that could not be had.
Cell = collections.namedtuple("Cell", "median least most")


def number(value):
    """Three digits, no exponent."""
    if value is None:
        return "-"
    if abs(value) >= 999.5:
        return f"{value:.0f}"
    return f"{value:.3g}"


def cell(values):
    """Of the values of several rounds."""
    if not values:
        return Cell(None, None, None)
    ordered = sorted(values)
    middle = len(ordered) // 2
    median = (ordered[middle] if len(ordered) % 2 else
              (ordered[middle - 1] + ordered[middle]) / 2)
    return Cell(median, ordered[0], ordered[-1])


def with_range(found):
    """median (least..most), or the only value"""
    if found.median is None or found.least == found.most:
        return number(found.median)
    return (f"{number(found.median)} ({number(found.least)}.."
            f"{number(found.most)})")


def table(head, rows):
    """Columns as wide as they must be, the first to the left."""
    widths = [max(len(row[i]) for row in [head] + rows)
              for i in range(len(head))]
    lines = []
    for row in [head, ["-" * w for w in widths]] + rows:
        words = [row[0].ljust(widths[0])]
        words += [word.rjust(width)
                  for word, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(words).rstrip())
    return "\n".join(lines)


def markdown(head, rows):
    """The same for docs."""
    lines = ["| " + " | ".join(row) + " |"
             for row in [head, ["---"] * len(head)] + rows]
    return "\n".join(lines)


def write_tsv(path, comment, head, rows):
    """A table that programs read; where and when it was measured first."""
    with open(path, "w", encoding="ascii") as file:
        file.write(f"# {comment}\n" + "\t".join(head) + "\n")
        for row in rows:
            file.write("\t".join("" if word is None else str(word)
                                 for word in row) + "\n")


def read_tsv(path):
    """(comment, rows as dictionaries)"""
    with open(path, encoding="ascii") as file:
        comment = file.readline()[2:].rstrip("\n")
        head = file.readline().rstrip("\n").split("\t")
        return comment, [dict(zip(head, line.rstrip("\n").split("\t")))
                         for line in file]


# The others have a colour of their own, each line of Aspen's another one.
COLOURS = {"plain": ["#606060"], "thread": ["#d95f02"], "async": ["#e7298a"],
           "offload": ["#1f78b4"], "on": ["#1f78b4"], "off": ["#d95f02"],
           "native": ["#b15928"], "U": ["#a6cee3"], "U-coll": ["#33a02c"],
           "P": ["#6a3d9a"], "GP": ["#e31a1c"], "auto": ["#e7298a"],
           "tuned": ["#1f78b4", "#33a02c", "#6a3d9a"],
           "aspen": ["#1f78b4", "#33a02c", "#6a3d9a", "#00a0a0", "#b15928",
                     "#e7298a"]}


def styles(rivals):
    """gnuplot's words for each of the lines, given their rivals."""
    seen, found = collections.Counter(), []
    for rival in rivals:
        colours, nth = COLOURS[rival], seen[rival]
        seen[rival] += 1
        found.append(f"linecolor rgb '{colours[nth % len(colours)]}' "
                     f"dashtype {nth % 4 + 1} linewidth 1.5 "
                     f"pointtype {nth % 6 + 4} pointsize 0.5")
    return found


def quoted(text):
    """For gnuplot."""
    return "'" + text.replace("'", "''") + "'"


def draw(path, script):
    """Have gnuplot write an SVG; says so where it is not installed, or fails.
    Returns whether there is a picture now."""
    name = os.path.basename(path)
    if not shutil.which("gnuplot"):
        print(f"no plot {name}: gnuplot is not installed (scripts/setup "
              "installs gnuplot-nox)")
        return False
    script = ["set terminal svg size 720,420 dynamic background '#ffffff'",
              f"set output {quoted(path)}", *script]
    done = subprocess.run(["gnuplot"], input="\n".join(script) + "\n",
                          text=True, capture_output=True, check=False)
    if done.returncode:
        print(f"no plot {name}: {done.stderr.strip()}")
    return done.returncode == 0


def bars(path, title, y_name, heads, rows):
    """rows: [(name, [value of each head, or None])...]; a group of bars for
    each. As draw()."""
    script = [f"set title {quoted(title)}", f"set ylabel {quoted(y_name)}",
              "set style data histogram", "set style fill solid 0.8",
              "set style histogram clustered gap 1",
              "set xtics rotate by -35 noenhanced", "set grid ytics",
              "set yrange [0:]", "set key outside top horizontal noenhanced",
              "$rows << end"]
    script += [" ".join([quoted(name)] + ["?" if value is None else
                                          f"{value:.4g}" for value in values])
               for name, values in rows]
    script += ["end", "set datafile missing '?'"]
    script.append("plot " + ", ".join(
        f"$rows using {i + 2}:xtic(1) linecolor rgb "
        f"'{COLOURS['aspen'][i]}' title {quoted(head)}"
        for i, head in enumerate(heads)))
    return draw(path, script)


def axes(lines):
    """Logarithmic, but values that lie close together from 0 on."""
    xs = sorted({point[0] for _, _, points in lines for point in points})
    ys = [value for _, _, points in lines for point in points
          for value in point[1:]]
    close = max(ys) < 10 * min(ys)
    low = min(0, *ys) # a share may be less than nothing
    return ["set logscale x", f"set yrange [{low}:]"
            if close or min(ys) <= 0 else "set logscale y",
            "set xtics (" + ", ".join(f"'{x}' {x}" for x in xs) + ")",
            f"set xrange [{xs[0] * 0.9}:{xs[-1] * 1.1}]"]


def plot(path, title, x_name, y_name, lines):
    """lines: [(label, rival, [(x, median, least, most)...])...]. As draw()."""
    lines = [line for line in lines if line[2]]
    if not lines:
        return False
    script = [f"set title {quoted(title)}", f"set xlabel {quoted(x_name)}",
              f"set ylabel {quoted(y_name)}",
              "set key outside right noenhanced", "set grid", *axes(lines)]
    for i, (_, _, points) in enumerate(lines):
        script.append(f"$line{i} << end")
        script += [" ".join(str(value) for value in point)
                   for point in sorted(points)]
        script.append("end")
    script.append("plot " + ", ".join(
        f"$line{i} using 1:2:3:4 with yerrorlines {style} title {quoted(label)}"
        for i, (style, (label, _, _)) in enumerate(
            zip(styles([rival for _, rival, _ in lines]), lines))))
    return draw(path, script)
