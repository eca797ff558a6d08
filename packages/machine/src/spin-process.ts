/** Started by spin.ts: a line on standard input asks for one spin, a line on standard output has its CPU time and its duration in seconds. */

import { createInterface } from 'node:readline'

const TARGET_MICROSECONDS = 2000
const CALIBRATIONS = 40

/** Work that neither memory nor the compiler can shorten: xorshift32. */
function work(rounds: number): number {
  let state = 2463534242
  for (let round = 0; round < rounds; round++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
  }
  return state
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
  const began = performance.now()
  const cpuSeconds = timed(perSpin) / 1e6
  process.stdout.write(`${cpuSeconds} ${(performance.now() - began) / 1e3}\n`)
})
process.stdout.write('0 0\n')
