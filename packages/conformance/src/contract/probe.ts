import { ask, type Connection, openConnection, type Patience } from '@startgrid/wire/client.ts'
import { NoResponse, type Response } from '@startgrid/wire/reader.ts'
import type { Request } from '@startgrid/wire/request.ts'
import type { Target } from '@startgrid/wire/target.ts'
import type { Expectation } from './expectation.ts'
import { describeRequest, differ, type Finding } from './finding.ts'
import { judge, type Session } from './judge.ts'

export type Role = 'hello' | 'ssr' | 'status'

export const ROLES: readonly Role[] = ['hello', 'ssr', 'status']

/** What an app may lack. */
export type Capability = 'stream'

export const CAPABILITIES: readonly Capability[] = ['stream']

/** The server under test and what is known about it. */
export interface Subject extends Patience {
  target: Target
  role: Role
  /** What it lacks. */
  absent: readonly Capability[]
  session: Session
  /** All that the server has logged so far, one JSON object per line; undefined where nobody can read it: it is not checked then. */
  log: (() => string) | undefined
  /** URLs of the assets that the page loads. */
  assets: () => Promise<readonly string[]>
}

/** One line of the contract, as a test. */
export interface Check {
  name: string
  /** The roles it applies to; default all. */
  roles?: readonly Role[]
  /** Skipped if this is absent. */
  needs?: Capability
  /** Runs only if the caller can read the log. */
  needsLog?: true
  /** Runs only if the caller says that a proxy in front compresses. */
  needsCompression?: true
  run(probe: Probe): Promise<void>
}

/** One difference between the server and the contract. */
export interface Difference {
  check: string
  /** Readable, one line. */
  request: string
  expected: string
  received: string
}

/** Attempts, because a reset may destroy a response that was sent: RFC 9112 section 9.6. */
const ATTEMPTS = 3

/** The tools of a check: it sends requests, compares responses, and collects the differences. */
export class Probe {
  readonly subject: Subject
  readonly differences: Difference[] = []
  readonly #check: string

  /** @param check its name */
  constructor(subject: Subject, check: string) {
    this.subject = subject
    this.#check = check
  }

  /** Notes differences. */
  report(request: Request | string, findings: readonly Finding[]): void {
    const text = typeof request === 'string' ? request : describeRequest(request)
    this.differences.push(...findings.map((finding) => ({ check: this.#check, request: text, ...finding })))
  }

  /** Gives `use` a new connection and closes it afterwards. */
  async connected<T>(use: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await openConnection(this.subject.target, this.subject)
    try {
      return await use(connection)
    } finally {
      connection.destroy()
    }
  }

  /** Compares a response with what the contract says. */
  judge(request: Request, response: Response, expected: Expectation | readonly Expectation[]): void {
    this.report(request, judge(request, response, expected, this.subject.session))
  }

  /**
   * Sends a request and compares the response. A missing response is a difference.
   * @param connection default: a new connection for this request alone
   */
  async expect(
    request: Request,
    expected: Expectation | readonly Expectation[],
    connection?: Connection,
  ): Promise<Response | undefined> {
    return this.attempt(request, async () => {
      const response = await (connection?.exchange(request) ??
        ask(this.subject.target, request, this.subject))
      this.judge(request, response, expected)
      return response
    })
  }

  /** A GET of each, as `expect` sends it. */
  async expectEach(targets: readonly string[], expected: Expectation): Promise<void> {
    for (const target of targets) await this.expect({ target }, expected)
  }

  /**
   * Runs an action for which a missing response is a difference.
   * @throws {NoResponse} after a timeout, so that no check waits for a hanging server again
   */
  async attempt<T>(request: Request | string, action: () => Promise<T>): Promise<T | undefined> {
    try {
      return await action()
    } catch (error) {
      if (!(error instanceof NoResponse) || error.failure === 'aborted') throw error
      this.report(request, differ('a response', error.message))
      if (error.failure === 'timeout' || error.failure === 'refused') throw new GaveUp()
      return undefined
    }
  }

  /** Tries again after a reset: a server that closes with unread bytes can destroy its response. */
  async despiteReset<T>(action: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await action()
      } catch (error) {
        if (attempt === ATTEMPTS || !(error instanceof NoResponse) || error.failure !== 'reset') throw error
      }
    }
  }
}

/** A check ended early; what it found is noted. */
export class GaveUp extends Error {
  override name = 'GaveUp'
}
