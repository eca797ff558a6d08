/** Gives a wrong response to every n-th request. */

import type { Socket } from 'node:net'
import { RIGHT, WRONG } from './bodies.ts'
import { did, offer, readSettings } from './fault-process.ts'
import { answer } from './raw-server.ts'

export interface EveryNthSettings {
  every: number
  fault: Fault
}

const HALF = answer(RIGHT).slice(0, -5)

/** What the server does to a request, and whether that is a complete response. */
const FAULTS = {
  status: { answers: true, act: (socket) => socket.write(answer(RIGHT, { status: '500 No' })) },
  body: { answers: true, act: (socket) => socket.write(answer(WRONG)) },
  length: { answers: true, act: (socket) => socket.write(answer(`${RIGHT}!`)) },
  surplus: { answers: false, act: (socket) => socket.write(`${answer(RIGHT)}!`) },
  'announced close': {
    answers: true,
    act: (socket) => socket.end(answer(RIGHT, { headers: 'connection: close\r\n' })),
  },
  'silent close': { answers: true, act: (socket) => socket.end(answer(RIGHT)) },
  'half answer': { answers: false, act: (socket) => socket.end(HALF) },
  reset: { answers: false, act: (socket) => socket.resetAndDestroy() },
  silence: { answers: false, act: () => {} },
} satisfies Record<string, { answers: boolean; act: (socket: Socket) => void }>

export type Fault = keyof typeof FAULTS

const { every, fault } = readSettings<EveryNthSettings>()

await offer((socket, n) => {
  if (n % every !== 0) {
    did.answers++
    socket.write(answer(RIGHT))
    return
  }
  did.faults++
  if (FAULTS[fault].answers) did.answers++
  FAULTS[fault].act(socket)
})
