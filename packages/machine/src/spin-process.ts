/** Started by spin.ts: a line on standard input asks for one spin, a line on standard output has its CPU time and its duration in seconds. */

import { createInterface } from 'node:readline'

const TARGET_MICROSECONDS = 2000
const CALIBRATIONS = 40

/**
 * Six xorshift32 that do not wait for each other: work that keeps a core as busy as a server does. A neighbour on the same physical core takes
 * execution units, so it slows such work by as much as JSON and system calls (×2.06, 90th over 10th percentile), and a single chain by ×1.27.
 */
function work(rounds: number): number {
  let a = 2463534242
  let b = 1
  let c = 2
  let d = 3
  let e = 4
  let f = 5
  for (let round = 0; round < rounds; round++) {
    a ^= a << 13
    b ^= b << 13
    c ^= c << 13
    d ^= d << 13
    e ^= e << 13
    f ^= f << 13
    a ^= a >>> 17
    b ^= b >>> 17
    c ^= c >>> 17
    d ^= d >>> 17
    e ^= e >>> 17
    f ^= f >>> 17
    a ^= a << 5
    b ^= b << 5
    c ^= c << 5
    d ^= d << 5
    e ^= e << 5
    f ^= f << 5
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
  const began = performance.now()
  const cpuSeconds = timed(perSpin) / 1e6
  process.stdout.write(`${cpuSeconds} ${(performance.now() - began) / 1e3}\n`)
})
process.stdout.write('0 0\n')
