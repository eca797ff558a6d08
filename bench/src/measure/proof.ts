import { setTimeout as sleep } from 'node:timers/promises'
import { ForeseenError } from '@startgrid/cli/arguments.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import { type BodyExpectation, exactly } from '@startgrid/loadgen/expectation.ts'
import {
  type Asked,
  ask,
  askOften,
  bodyOf,
  isExpected,
  nameAsked,
  quote,
} from '@startgrid/servers/request.ts'
import { mean } from '@startgrid/stats/moments.ts'
import { NoResponse, type Response } from '@startgrid/wire/reader.ts'
import { headerValue } from '@startgrid/wire/request.ts'
import type { Target } from '@startgrid/wire/target.ts'
import type { Workload } from '../result/experiment.ts'
import type { Known } from '../servers/command/cause.ts'
import { differenceOf, expectationOf, type Head, learn, MOST_MASKED } from '../servers/command/equal-work.ts'
import type { Entrant } from './load.ts'

/** Why a race cannot be run; the message is a sentence. */
export class PilotError extends ForeseenError {
  override name = 'PilotError'
}

/** Of a race for which there is not time enough. */
export class TimeError extends PilotError {}

/** A system does not start, whatever is asked of it. */
export class StartError extends PilotError {}

export interface ProofOptions {
  /** Systems may send different responses. */
  different: boolean
  /** Of a right response; undefined: any 2xx. */
  status: number | undefined
}

/** Responses of one system that tell what differs between them, over more than a second: a date or an uptime may have whole ones. */
const RESPONSES = 5
const SPREAD_MS = 1100
const RESPONSE_MS = 10_000

/** What a system has shown of one path. */
interface Proof extends Known {
  /** In a mixture of paths. */
  weight: number
  /** Bytes of a body that are masked, on average. */
  masked: number
  head: Head
  /** Milliseconds, on average. */
  responseMs: number
}

type Started = Pick<Entrant, 'cell' | 'server'>

/** A system with what it has shown of all paths, and what is asked of it under load. */
interface Proven extends Started {
  proofs: Proof[]
  workload: Workload
}

/**
 * Whether all systems send the same.
 * @throws {PilotError} if not, and that is not meant
 */
export async function proveEqual(
  started: readonly Started[],
  asked: Workload,
  options: ProofOptions,
): Promise<{ proven: Proven[]; difference: Different | null }> {
  const shown = await Promise.all(
    started.map(async (one) => ({ ...one, proofs: await proofsOf(one, asked, options) })),
  )
  const difference = differenceBetween(shown)
  if (difference !== null && !options.different)
    throw new PilotError(
      `${difference.says}${difference.where}. Equal work comes first: if one was still starting, name a --ready-path; if the difference is meant, add --different-responses.`,
    )
  const isEqual = () => options.different || differenceBetween(shown) === null
  const proven = shown.map((one) => ({ ...one, workload: workloadOf(one.proofs, asked, isEqual) }))
  return { proven, difference }
}

async function proofsOf(started: Started, asked: Workload, options: ProofOptions): Promise<Proof[]> {
  const { mix, ...plain } = asked
  const drawn = mix ?? [{ path: plain.path, weight: 1 }]
  const proving = drawn.map(async ({ path, weight }) => {
    return { weight, ...(await proofOfPath(started, { ...plain, path }, options)) }
  })
  const proofs = await Promise.all(proving)
  const [first] = proofs
  const other = proofs.find(({ status }) => status !== first?.status)
  if (other !== undefined)
    throw new PilotError(
      `${started.cell.title} responds to ${other.asked.path} with status ${other.status}, and to ${first?.asked.path} with ${first?.status}: paths of one mixture must have one status.`,
    )
  return proofs
}

async function proofOfPath(
  { cell, server }: Started,
  asked: Asked,
  { status }: ProofOptions,
): Promise<Omit<Proof, 'weight'>> {
  const responses: Response[] = []
  let connections = 0
  let responseMs = 0
  const beganAt = performance.now()
  try {
    for await (const { response, connection } of askOften(server.target, asked, RESPONSE_MS)) {
      if (!isExpected(response, status))
        throw new PilotError(
          `${cell.title} responds to ${nameAsked(asked)} with status ${response.status} and ${quote(response)}, and ${status ?? '2xx'} was expected: see --path, --header and --expect-status.`,
        )
      connections = connection
      responseMs = (performance.now() - beganAt) / responses.push(response)
      if (responses.length === RESPONSES) break
      if (responses.length === RESPONSES - 1)
        await sleep(Math.max(0, SPREAD_MS - (performance.now() - beganAt)))
    }
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error
    throw new PilotError(`${cell.title} does not respond to ${nameAsked(asked)}: ${oneLine(error)}.`)
  }
  const [first] = responses
  const last = responses.at(-1)
  if (first === undefined || last === undefined) throw new Error('it has no response')
  const learnt = learn(responses.map(bodyOf))
  if (learnt.masked > MOST_MASKED)
    throw new PilotError(
      `${Math.round(learnt.masked * 100)} % of the bytes that ${cell.title} sends for ${nameAsked(asked)} differ from response to response (${quote(first)}, then ${quote(last)}), which proves nothing about equal work (at most ${MOST_MASKED * 100} %): ask for a --path that changes less, or name a --ready-path if it was still starting.`,
    )
  const bytes = Math.round(mean(responses.map(({ body }) => body.length)))
  const headBytes = mean(
    responses.map(({ headers }) =>
      headers.reduce((sum, [header, value]) => sum + `${header}: ${value}\r\n`.length, 0),
    ),
  )
  return {
    asked,
    first,
    learnt,
    isFixed: responses.every(({ body }) => body.equals(first.body)),
    status: first.status,
    masked: Math.round(learnt.masked * bytes),
    responseMs,
    head: {
      title: cell.title,
      names: [...new Set(responses.flatMap(({ headers }) => headers.map(([name]) => name.toLowerCase())))],
      bytes: Math.round(bytes + headBytes),
      closes: connections === RESPONSES,
    },
  }
}

/** A sentence without its full stop. `where` quotes bodies, in which secrets may be: it is in no file. */
interface Different {
  says: string
  where: string
}

/** Null if all send what the first one does. */
function differenceBetween([first, ...others]: readonly Omit<Proven, 'workload'>[]): Different | null {
  if (first === undefined) return null
  for (const other of others) {
    const [one, two] = [first.cell.title, other.cell.title]
    const [status, another] = [first.proofs[0]?.status, other.proofs[0]?.status]
    if (status !== another)
      return { says: `${one} responds with status ${status}, ${two} with ${another}`, where: '' }
    for (const [place, { learnt }] of first.proofs.entries()) {
      const found = differenceOf(learnt.template, other.proofs[place]?.learnt.template ?? [])
      if (found !== undefined)
        return {
          says: `${one} and ${two} send different bodies`,
          where: `: after ${JSON.stringify(found.before)}, ${one} has ${JSON.stringify(found.one)} and ${two} ${JSON.stringify(found.other)}`,
        }
    }
  }
  return null
}

/** What a race asks of a system, with the right responses that it has shown. @param isEqual whether all send the same, as far as is known now */
function workloadOf(own: readonly Proof[], asked: Workload, isEqual: () => boolean): Workload {
  const workload: Workload = {
    ...asked,
    ...expectationsOf(own, asked),
    ...(own[0] && { status: own[0].status }),
    isProven: true,
    // Of what changes every few seconds or minutes, as caches and clocks do.
    learnAgain: async (target) => {
      const before = own.map((proof) => ({ ...proof }))
      for (const proof of own) await seeAgain(proof, target)
      const hasChanged = own.some(
        ({ learnt, isFixed }, index) =>
          isFixed !== before[index]?.isFixed || learnt.masked !== before[index]?.learnt.masked,
      )
      if (hasChanged && isEqual() && own.every(({ learnt }) => learnt.masked <= MOST_MASKED)) {
        Object.assign(workload, expectationsOf(own, asked))
        return true
      }
      for (const [index, proof] of own.entries()) Object.assign(proof, before[index])
      return false
    },
  }
  return workload
}

async function seeAgain(proof: Proof, target: Target): Promise<void> {
  const response = await ask(target, proof.asked, RESPONSE_MS).catch((error: unknown) => {
    if (!(error instanceof NoResponse)) throw error
  })
  if (response?.status !== proof.status) return
  proof.learnt = learn([bodyOf(response)], proof.learnt)
  proof.isFixed &&= response.body.equals(proof.first.body)
}

function expectationsOf(proofs: readonly Proof[], { mix }: Workload): Pick<Workload, 'expect' | 'mix'> {
  const drawn = proofs.map(({ asked: { path }, weight, ...proof }) => ({
    path,
    weight,
    expect: expectOf(proof),
  }))
  return { expect: drawn[0]?.expect ?? {}, ...(mix && { mix: drawn }) }
}

function expectOf({ isFixed, first, learnt }: Pick<Proof, 'isFixed' | 'first' | 'learnt'>): BodyExpectation {
  if (isFixed) return exactly(first.body)
  const encoding = headerValue(first.headers, 'content-encoding')
  return { ...expectationOf(learnt), ...(encoding !== undefined && { encoding }) }
}
