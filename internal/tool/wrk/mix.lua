-- Makes the requests that stand above in the order of the sequence, again and again, each of count threads from a place of its own, and says how many of
-- each were made. wrk keeps what request() returns, and a connection asks for the next when the one before it is answered.
dofile("wrk-done.lua")
local wait, ours = init, done
local byte, length = string.byte, #sequence
local threads, texts = {}, {}

function setup(thread)
  thread:set("first", #threads * math.floor(length / count))
  threads[#threads + 1] = thread
end

function init(args)
  for i, one in ipairs(asked) do
    for name, value in pairs(wrk.headers) do one.headers[name] = one.headers[name] or value end
    texts[i] = wrk.format(one.method, one.path, one.headers, one.body)
  end
  place = first
  wait(args)
end

function request()
  local at = place
  place = at + 1
  return texts[byte(sequence, at % length + 1) - 96]
end

-- made adds up what lies between two places of the sequence.
local function made(counts, from, to)
  for at = from, to - 1 do
    local i = byte(sequence, at % length + 1) - 96
    counts[i] = counts[i] + 1
  end
end

function done(summary, latency, requests)
  local counts, whole = {}, {}
  for i = 1, #asked do counts[i], whole[i] = 0, 0 end
  made(whole, 0, length)
  for i, thread in ipairs(threads) do
    local from, to = thread:get("first"), thread:get("place")
    if i == 1 then from = from + 1 end -- wrk has looked at one request before it began.
    local rounds = math.floor((to - from) / length)
    for j = 1, #asked do counts[j] = counts[j] + rounds * whole[j] end
    made(counts, from + rounds * length, to)
  end
  io.write("\n")
  for i = 1, #asked do io.write(string.format("loadstone request %d %d\n", i, counts[i])) end
  ours(summary, latency, requests)
end
