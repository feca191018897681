-- Loads the user's script, at the path that the line before this one names, and dumps wrk's histogram after the script's own done.
-- wrk itself says that a script does not load, and then measures without it.
dofile("wrk-done.lua")
local ours, wait = done, init
done, init = nil, nil

local loaded, why = pcall(dofile, path)
if not loaded then
  io.stderr:write("the script does not load: ", tostring(why), "\n")
  os.exit(1)
end

local prepare = init
if type(prepare) == "function" then
  function init(args)
    prepare(args)
    wait()
  end
else
  init = wait
end

local theirs = done
if type(theirs) ~= "function" then
  done = ours
else
  -- The script gets a copy of what is dumped, and may have sent the output elsewhere.
  function done(summary, latency, requests)
    local copy = {errors = {}}
    for name, value in pairs(summary) do
      if name ~= "errors" then copy[name] = value end
    end
    for name, value in pairs(summary.errors) do copy.errors[name] = value end
    theirs(copy, latency, requests)
    io.output(io.stdout)
    ours(summary, latency, requests)
  end
end
