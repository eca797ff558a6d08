import { ask as askOnce } from '@startgrid/wire/client.ts'
import type { Response } from '@startgrid/wire/reader.ts'
import type { Target } from '@startgrid/wire/target.ts'
import type { Asked } from '../../model/experiment.ts'

/** Bytes of a body that are kept and compared. */
const MOST_BYTES = 10 * 1024 * 1024

/**
 * Sends one request on a connection of its own.
 * @throws {NoResponse} if there is no whole response in time
 */
export function ask(target: Target, asked: Asked, timeoutMs: number): Promise<Response> {
  const { method = 'GET', path, headers = {}, body } = asked
  const request = {
    method,
    target: path,
    headers: Object.entries(headers),
    ...(body !== undefined && { body }),
  }
  return askOnce(target, request, { timeoutMs, keep: MOST_BYTES })
}

export function isExpected({ status }: Response, asked: { status?: number }): boolean {
  return asked.status === undefined ? status >= 200 && status < 300 : status === asked.status
}
