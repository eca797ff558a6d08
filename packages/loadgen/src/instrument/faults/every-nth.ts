/** Gives a wrong response to every n-th request. */

import type { Socket } from 'node:net'
import { RIGHT, WRONG } from './bodies.ts'
import { did, offer, readSettings } from './fault-process.ts'
import { rawResponse } from './raw-server.ts'

export interface EveryNthSettings {
  every: number
  fault: Fault
}

const HALF = rawResponse(RIGHT).slice(0, -5)

/** What the server does to a request, and whether that is a complete response. */
const FAULTS = {
  status: { responses: true, act: (socket) => socket.write(rawResponse(RIGHT, { status: '500 No' })) },
  body: { responses: true, act: (socket) => socket.write(rawResponse(WRONG)) },
  length: { responses: true, act: (socket) => socket.write(rawResponse(`${RIGHT}!`)) },
  surplus: { responses: false, act: (socket) => socket.write(`${rawResponse(RIGHT)}!`) },
  'announced close': {
    responses: true,
    act: (socket) => socket.end(rawResponse(RIGHT, { headers: 'connection: close\r\n' })),
  },
  'silent close': { responses: true, act: (socket) => socket.end(rawResponse(RIGHT)) },
  'half response': { responses: false, act: (socket) => socket.end(HALF) },
  reset: { responses: false, act: (socket) => socket.resetAndDestroy() },
  silence: { responses: false, act: () => {} },
} satisfies Record<string, { responses: boolean; act: (socket: Socket) => void }>

export type Fault = keyof typeof FAULTS

const { every, fault } = readSettings<EveryNthSettings>()

await offer((socket, n) => {
  if (n % every !== 0) {
    did.responses++
    socket.write(rawResponse(RIGHT))
    return
  }
  did.faults++
  if (FAULTS[fault].responses) did.responses++
  FAULTS[fault].act(socket)
})
