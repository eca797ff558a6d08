import { PLAIN_TEXT } from '#shared/http/contract.ts'
import { type Answer, createApp } from './base.ts'

export function status(): Answer {
  return { type: PLAIN_TEXT, body: 'OK' }
}

export default createApp({ '/_/status': status })
