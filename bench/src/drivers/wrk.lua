-- Tells bench/src/drivers/wrk.ts exact figures, which wrk's own text rounds to three digits. It is not called while requests are
-- sent: a `response` function, which could look at responses, would cost wrk 9 % of its rate.

-- In the main thread, right before the load begins.
function setup()
  io.stdout:write("ready\n")
  io.stdout:flush()
end

-- In the main thread, after the load. Times are in microseconds; `os.clock` is the CPU time of all threads, in seconds.
function done(summary, latency)
  local errors = summary.errors
  io.stdout:write(string.format(
    '{"microseconds":%d,"requests":%d,"cpuSeconds":%.6f,' ..
    '"errors":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d},"latency":[',
    summary.duration, summary.requests, os.clock(),
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
  for i = 1, #latency do
    local value, count = latency(i)
    io.stdout:write(i == 1 and "" or ",", string.format("[%d,%d]", value, count))
  end
  io.stdout:write("]}\n")
end
