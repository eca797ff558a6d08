/**
 * Started by spin.ts. The first line on standard output says how many rounds a spin has. A line on standard input asks for one spin; a line
 * on standard output has its CPU time in seconds.
 */

import { createInterface } from 'node:readline'

const TARGET_MICROSECONDS = 2000
const CALIBRATIONS = 40

/** One step of xorshift32, which neither memory nor the compiler can shorten. */
function step(state: number): number {
  state ^= state << 13
  state ^= state >>> 17
  return state ^ (state << 5)
}

/**
 * Six generators that do not wait for each other: work that keeps a core as busy as a server does. A neighbour on the same physical core takes
 * execution units, so it slows such work by as much as JSON and system calls (×2.06, 90th over 10th percentile), and a single one by ×1.27.
 */
function work(rounds: number): number {
  let [a, b, c, d, e, f] = [2463534242, 1, 2, 3, 4, 5]
  for (let round = 0; round < rounds; round++) {
    a = step(a)
    b = step(b)
    c = step(c)
    d = step(d)
    e = step(e)
    f = step(f)
  }
  return a ^ b ^ c ^ d ^ e ^ f
}

/** Microseconds. */
function timed(rounds: number): number {
  const before = process.cpuUsage()
  work(rounds)
  const { user, system } = process.cpuUsage(before)
  return user + system
}

// By the fastest of many, so that a busy neighbour does not decide how much work a spin is.
function calibrate(rounds: number): number {
  const fastest = Math.min(...Array.from({ length: CALIBRATIONS }, () => timed(rounds)))
  return Math.max(1, Math.round((rounds * TARGET_MICROSECONDS) / Math.max(1, fastest)))
}

// Once more with about as much work as a spin has: by then it is compiled.
const perSpin = calibrate(calibrate(200_000))

// Ctrl-C reaches the whole process group; the parent ends this process.
process.on('SIGINT', () => {})
createInterface({ input: process.stdin }).on('line', () => {
  process.stdout.write(`${timed(perSpin) / 1e6}\n`)
})
process.stdout.write(`${perSpin}\n`)
