import { Http1Connection, type Patience } from './http1.ts'
import { Http2Connection } from './http2.ts'
import type { Target } from './target.ts'

/** One HTTP connection. */
export type Connection = Pick<Http1Connection, keyof Http1Connection>

/**
 * Connects.
 * @throws {NoResponse} if nobody listens there
 */
export function openConnection(target: Target, patience: Patience): Promise<Connection> {
  return patience.http2 ? Http2Connection.open(target, patience) : Http1Connection.open(target, patience)
}
