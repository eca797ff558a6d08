/** child.ts on a machine whose clock is ahead by so many milliseconds, and which gets messages late: `node … OFFSET_MS DELAY_MS`. */

const [offsetMs = 0, delayMs = 0] = process.argv.slice(2).map(Number)
const own = process.hrtime
const shifted = (): [number, number] => {
  const [seconds, nanoseconds] = own()
  const ns = nanoseconds + (offsetMs % 1000) * 1e6
  return [seconds + Math.floor(offsetMs / 1000) + Math.floor(ns / 1e9), ns % 1e9]
}
process.hrtime = Object.assign(shifted, { bigint: own.bigint })

if (delayMs > 0) {
  const read = process.stdin.on.bind(process.stdin)
  process.stdin.on = (event: string, listener: (...args: unknown[]) => void) =>
    read(event, (...args: unknown[]) => {
      if (event === 'data') setTimeout(() => listener(...args), delayMs)
      else listener(...args)
    })
}

await import('../src/engine/child.ts')
