import type { ApiException, V1Status } from '@kubernetes/client-node'
import { ForeseenError } from '@startgrid/cli/foreseen-error.ts'

/** The cluster, a permission or an object is missing. The message is a sentence. */
export class KubernetesError extends ForeseenError {
  override name = 'KubernetesError'
  /** The status of the response; undefined if the cluster does not respond. */
  readonly status: number | undefined

  constructor(message: string, { status, ...options }: ErrorOptions & { status?: number } = {}) {
    super(message, options)
    this.status = status
  }
}

/** Makes a request to the cluster. @throws {KubernetesError} one sentence */
export async function ask<Value>(what: string, request: () => Promise<Value>): Promise<Value> {
  try {
    return await request()
  } catch (error) {
    throw explain(what, error)
  }
}

/** As `ask`, for an object that does not matter if it is gone already. @param what in the plural, such as `pods` */
export async function askToDelete(what: string, request: () => Promise<unknown>): Promise<void> {
  try {
    await request()
  } catch (error) {
    if (!(isRefusal(error) && error.code === 404)) throw explain(`delete ${what}`, error)
  }
}

/** By its shape: commands that need no cluster import this file, and the client takes a second to load. */
function isRefusal(error: unknown): error is ApiException<unknown> {
  return error instanceof Error && 'code' in error && 'body' in error && 'headers' in error
}

/** @param what the rest of "cannot" */
export function explain(what: string, error: unknown): KubernetesError {
  if (isRefusal(error)) {
    const { message } = (typeof error.body === 'string' ? parse(error.body) : error.body) as V1Status
    const reason = message ?? `status ${error.code}`
    return new KubernetesError(`The cluster does not let us ${what}: ${reason}.`, { status: error.code })
  }
  const { message, cause } = error as Error & { cause?: Error }
  return new KubernetesError(`We cannot ${what}: ${cause?.message ?? message}.`, { cause: error })
}

function parse(body: string): V1Status {
  try {
    return JSON.parse(body) as V1Status
  } catch {
    return { message: body.trim() }
  }
}
