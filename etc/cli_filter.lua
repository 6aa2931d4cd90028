-- SPDX-License-Identifier: BSD-3-Clause
-- Aspen: asks Slurm for the ghost tasks on top of the user's tasks, and for the
-- CPUs of offload and progress threads on top of the user's CPUs.
--
-- Slurm runs this in srun, sbatch and salloc, as the user, after the options
-- are read. The SPANK plugin, in the same process, says in ASPEN_FILTER_*
-- whether Aspen is wanted, and how; ASPEN_FILTER names a file that only this
-- process sees, where we write what we did. All arithmetic and all messages
-- are in `aspen explain --extra`; a request that is wrong is left alone here,
-- for the plugin refuses it a moment later.
--
-- A site with a cli_filter.lua of its own: append this file to it and call
-- aspen_grow(options) from its slurm_cli_pre_submit (docs/admin.md).

local ANSWER_MAX = 65536
local OPTIONS_MAX = 98304 -- bytes: a shell takes 128 KiB, for all its words

local function quoted(text)
    return "'" .. string.gsub(text, "'", "'\\''") .. "'"
end

-- Options as words, the shortest first: of all together no more than a shell
-- takes, as an --export may be of any length.
local function option_words(set, names)
    local words, bytes = {}, 0
    table.sort(names, function(a, b)
        return #set[a] < #set[b] or #set[a] == #set[b] and a < b
    end)
    for _, name in ipairs(names) do
        local word = quoted("--" .. name .. "=" .. set[name])
        bytes = bytes + #word + 1
        if bytes > OPTIONS_MAX then break end
        table.insert(words, word)
    end
    return words
end

-- Options that somebody set: by name, and a list of the names. Their values
-- alone cannot tell "-n 1" from no -n; the JSON form lists only what is set.
-- Those of plugins are a table.
local function set_options(options)
    local json = slurm.json_cli_options(options) or ""
    local found, names = {}, {}
    for name in string.gmatch(json, '[{,]"([%w-]+)":') do
        local value = options[name]
        if type(value) == "string" then
            found[name] = value
            table.insert(names, name)
        end
    end
    return found, names
end

-- Run a command line of the shell; "" if it fails.
local function output_of(command)
    local pipe = io.popen("{ " .. command .. "; } 2>/dev/null", "r")
    if not pipe then return "" end
    local text = pipe:read(ANSWER_MAX) or ""
    pipe:close()
    return text
end

-- Threads that Slurm counts on each core.
local function threads_of(cpus, sockets, cores)
    return math.max(1, math.floor(cpus / (sockets * cores)))
end

-- Do jobs of the partition get whole nodes, where sinfo does not say so? Of
-- several partitions the first stands for all.
local function gives_whole_nodes(partition)
    local name = string.match(partition, "^[^,]+") or ""
    local text = output_of("timeout 5 scontrol -o show partition " ..
                           quoted(name))
    return string.find(text, " Exclusive=NODE ", 1, true) ~= nil
end

-- The partition (the default one if none is asked for) and what its nodes are:
-- CPUs of its most common kind of node, and of its largest: without -N, or with
-- a range, the first decides how many nodes the tasks need; the second, whether
-- they fit at all. Then CPUs of all nodes, threads of a core, whether a job
-- gets whole nodes.
local function look_at_nodes(asked)
    local only = asked and ("-p " .. quoted(asked)) or ""
    local partition = asked
    local text = output_of("timeout 5 sinfo -h -e -o '%P %D %c %X %Y %h' " ..
                           only)
    local nodes, most, list = { largest = 0, threads = 1 }, 0, {}
    for name, count, cpus, sockets, cores, share in
        string.gmatch(text, "(%S+) (%d+) (%d+) (%d+) (%d+) (%S+)") do
        if asked or string.sub(name, -1) == "*" then
            partition = asked or string.sub(name, 1, -2)
            nodes.largest = math.max(nodes.largest, tonumber(cpus))
            nodes.threads = math.max(nodes.threads,
                                     threads_of(cpus, sockets, cores))
            nodes.whole = share == "EXCLUSIVE"
            table.insert(list, cpus .. "(x" .. count .. ")")
            if tonumber(count) > most then
                nodes.typical, most = cpus, tonumber(count)
            end
        end
    end
    nodes.all = table.concat(list, ",")
    if nodes.typical and not nodes.whole then
        nodes.whole = gives_whole_nodes(partition)
    end
    return partition, nodes
end

-- Are we to start a step in an allocation that exists?
local function in_allocation(options)
    return options.type == "srun" and os.getenv("SLURM_JOB_ID") ~= nil
end

-- The words for `aspen explain --extra`, and what the site's rules may ask of
-- the job (options of `aspen request`).
local function describe(options)
    local set, names = set_options(options)
    local words, facts = option_words(set, names), {}
    local function add(name, value)
        table.insert(words, quoted(name .. "=" .. value))
    end
    local function fact(name, value)
        if value and value ~= "" then
            table.insert(facts, "--" .. name .. "=" .. value)
        end
    end
    add("type", options.type)
    local release = os.getenv("ASPEN_FILTER_SLURM") or ""
    if release ~= "" then add("slurm", release) end
    if set["tres-per-task"] and
       set["tres-per-task"] == os.getenv("SLURM_TRES_PER_TASK") then
        add("tres-env", "yes")
    end
    if os.getenv("SLURM_HOSTFILE") and options.type == "srun" and
       not set.nodelist then
        add("distribution", "arbitrary")
    end
    local partition = options.partition
    local account, qos = options.account, options.qos
    if in_allocation(options) then
        local cpus = os.getenv("SLURM_JOB_CPUS_PER_NODE")
        if cpus then add("alloc-cpus", cpus) end
        local had = string.gsub(os.getenv("SLURM_SPANK_ASPEN_CPUS") or "",
                                "^user=(%d+) total=(%d+)$", "%1+%2")
        if had ~= "" then add("had-cpus", had) end
        partition = os.getenv("SLURM_JOB_PARTITION") or partition
        account = os.getenv("SLURM_JOB_ACCOUNT") or account
        qos = os.getenv("SLURM_JOB_QOS") or qos
    elseif not options.clusters then
        local nodes
        partition, nodes = look_at_nodes(partition)
        if nodes.typical then
            add("node-cpus", nodes.typical)
            add("max-cpus", string.format("%d", nodes.largest))
            add("part-cpus", nodes.all)
            add("node-threads", string.format("%d", nodes.threads))
            add("whole-nodes", nodes.whole and "yes" or "no")
        end
    end
    fact("partition", partition)
    fact("account", account)
    fact("qos", qos)
    local program = options.argv and options.argv[1]
    fact("program", program)
    facts.program = program and "--program=" .. program
    return table.concat(words, " "), facts
end

local function extra(words)
    return "exec timeout 10 " .. quoted(os.getenv("ASPEN_FILTER_COMMAND")) ..
           " explain --extra " .. words
end

-- Rules can ask for nodes and tasks per node, which ghosts do not change: find
-- them with one ghost.
local function count_facts(words, facts)
    local users, nodes = string.match(output_of(extra("spec=ghost:1 " .. words)),
                                      "\ngrown users=(%d+) ghosts=1 nodes=(%d+)")
    if users then
        table.insert(facts, "--nodes=" .. nodes)
        table.insert(facts, string.format("--tasks-per-node=%d",
                                          math.ceil(users / nodes)))
    end
end

-- The canonical request, and the site's knobs that change the counts; "" when
-- it is refused.
local function request(facts)
    local line = { quoted(os.getenv("ASPEN_FILTER_COMMAND")), "request",
                   "--counting" }
    for _, pair in ipairs({
        { "ASPEN_FILTER_SITE", "--site-policy=" },
        { "ASPEN_FILTER_PROGRESS", "--progress=" },
        { "ASPEN_FILTER_POLICY", "--policy=" },
    }) do
        local value = os.getenv(pair[1])
        if value and value ~= "" then
            table.insert(line, quoted(pair[2] .. value))
        end
    end
    for _, fact in ipairs(facts) do table.insert(line, quoted(fact)) end
    local text = output_of("exec timeout 10 " .. table.concat(line, " "))
    return string.match(text, "^[^\n]*") or ""
end

-- What to ask Slurm for. Where ghosts have no room, auto may have chosen one more
-- than the earlier run had: then as many as that. Returns a fact, too, if so.
local function ask(spec, words, facts)
    local function answer_to(text)
        return output_of(extra(quoted("spec=" .. text) .. " " .. words))
    end
    if spec == "" then return "" end
    local answer = answer_to(spec)
    if #facts == 0 or not string.find(answer, "^refuse ") then return answer end
    local more = { "--no-more-ghosts" }
    for _, fact in ipairs(facts) do table.insert(more, fact) end
    local fewer = request(more)
    if fewer == spec or fewer == "" then return answer end
    local second = answer_to(fewer)
    if string.find(second, "^refuse ") then return answer end
    return second, "--no-more-ghosts"
end

local function exists(name)
    local file = name and io.open(name, "r")
    if file then file:close() end
    return file ~= nil
end

-- Set an option. srun would warn of a -c that exceeds the user's: the plugin
-- can keep it quiet for the moment (spank-plugin/mute_stderr.c).
local function set_option(options, name, value)
    local plugin = os.getenv("ASPEN_FILTER_PLUGIN")
    local mute = name == "cpus-per-task" and options.type == "srun" and
                 plugin and package.loadlib(plugin, "aspen_hush")
    if mute then mute() end
    local good, why = pcall(function() options[name] = value end)
    if mute then mute() end
    if not good then error(why, 0) end
end

-- Does the request choose by the shape of the job, or by a record of an earlier
-- run? A policy file may.
local function asks_shape()
    for _, name in ipairs({ "ASPEN_FILTER_PROGRESS", "ASPEN_PROGRESS" }) do
        local text = os.getenv(name) or ""
        if text == "on" or string.find(text, "^on,") or
           string.find(text, "auto", 1, true) or
           string.find(text, "profile=", 1, true) then
            return true
        end
    end
    return (os.getenv("ASPEN_FILTER_POLICY") or "") ~= ""
end

function aspen_grow(options)
    local file_name = os.getenv("ASPEN_FILTER")
    if not file_name or not os.getenv("ASPEN_FILTER_COMMAND") then return end
    if options.interactive == "set" then return end -- salloc's own shell
    local file = io.open(file_name, "w")
    if not file then return end
    local words, facts = describe(options)
    if exists(os.getenv("ASPEN_FILTER_SITE")) or asks_shape() then
        count_facts(words, facts)
    else -- then only what the program is matters
        facts = { facts.program }
    end
    for _, fact in ipairs(facts) do
        file:write("fact ", string.gsub(fact, "%c", "?"), "\n")
    end
    local spec = request(facts)
    if string.find(spec, "^offload") and in_allocation(options) then
        local _, nodes = look_at_nodes(os.getenv("SLURM_JOB_PARTITION"))
        words = words .. string.format(" 'node-threads=%d'", nodes.threads)
        if os.getenv("SLURM_HINT") or os.getenv("SLURM_THREADS_PER_CORE") then
            words = words .. " alloc-asked=yes"
        end
    end
    local answer, fact = ask(spec, words, facts)
    if fact then file:write("fact ", fact, "\n") end
    for line in string.gmatch(answer, "[^\n]+") do
        local name, value = string.match(line, "^set (%S+) (%S+)$")
        if name then
            set_option(options, name, value)
        else
            file:write(line, "\n")
        end
    end
    file:close()
end

function slurm_cli_setup_defaults(options, early)
    return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, offset)
    aspen_grow(options)
    return slurm.SUCCESS
end

function slurm_cli_post_submit(offset, job_id, step_id)
    return slurm.SUCCESS
end
