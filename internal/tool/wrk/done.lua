-- Lets wrk begin when its standard input ends, and writes its counters and whole latency histogram, one "loadstone" line each, after
-- wrk's own output.

-- wrk calls this for each of its threads before the first of them runs, and opens the connections after it.
function init() io.stdin:read("*a") end

-- memory returns the words of wrk 4.1's histogram (count, limit, min, max, then a count for each microsecond), or nil when
-- LuaJIT cannot show them or when they are not what wrk says of the histogram by its own functions.
local function memory(latency)
  local ok, words = pcall(function()
    local ffi = require("ffi")
    return ffi.cast("uint64_t **", latency)[0]
  end)
  if not ok then return nil end
  local limit, min, max = tonumber(words[1]), tonumber(words[2]), tonumber(words[3])
  if min ~= latency.min or max ~= latency.max or min > max or max >= limit then return nil end
  return words
end

local function scan(latency, words)
  for micros = latency.min, latency.max do
    local count = tonumber(words[4 + micros])
    if count > 0 then io.write(string.format("loadstone latency %d %d\n", micros, count)) end
  end
end

-- ask does the same as scan by wrk's documented function, which takes quadratic time.
local function ask(latency)
  for i = 1, #latency do
    local micros, count = latency(i)
    io.write(string.format("loadstone latency %d %d\n", micros, count))
  end
end

function done(summary, latency, requests)
  local function line(name, value) io.write(string.format("loadstone summary %s %d\n", name, value)) end
  io.write("\nloadstone begin\n")
  line("duration", summary.duration)
  line("requests", summary.requests)
  line("bytes", summary.bytes)
  line("connect", summary.errors.connect)
  line("read", summary.errors.read)
  line("write", summary.errors.write)
  line("timeout", summary.errors.timeout)
  line("status", summary.errors.status)
  line("bins", #latency)
  if #latency > 0 then
    local words = memory(latency)
    if words then scan(latency, words) else ask(latency) end
  end
  io.write("loadstone end\n")
end
