import type { BodyExpectation } from '@startgrid/loadgen/expectation.ts'
import type { KeyType } from '@startgrid/nginx/certificate.ts'
import type { Command } from '@startgrid/servers/command.ts'
import type { Asked } from '@startgrid/servers/request.ts'
import type { Target } from '@startgrid/wire/target.ts'
import type { Metric } from './metrics.ts'

/**
 * Systems, races between them, and claims about them: what is measured, as data. A study is one in a file; the grid and
 * commands of a person become one (bench/src/experiment).
 */
export interface Experiment {
  /** Of a study, as it is typed, and the name of its file and page: `nginx-proxy`. Of commands `race`, of the grid empty. */
  name: string
  /** By name. A race, a claim and a step refer to these. */
  systems: Readonly<Record<string, System>>
  /** By name. The systems of one race are started together and compared with each other, never with those of another one. */
  races: Readonly<Record<string, Race>>
  claims: readonly Claim[]
  /** What a difference of two systems tells apart; reported as CPU per request. */
  steps?: readonly Step[]
  /** What ways to serve cost, and by how much one costs more than another. */
  costs?: readonly Costs[]
}

/** What a study file says: a question, the systems that are compared, how they are loaded, and what a source claims of them. */
export interface Study extends Experiment {
  /** One line for `--list`. */
  title: string
  question: string
  /** Absent for a question of our own. */
  source?: Source
}

export function isStudy(experiment: Experiment): experiment is Study {
  return 'question' in experiment
}

export interface Source {
  title: string
  /** Absent if it is not known. */
  url?: string
  /** Of packages, where it names them: `{ express: '4' }`. */
  versions?: Readonly<Record<string, string>>
  /** What it was measured on, and with. */
  machine: string
  tool: string
}

/**
 * One way to serve. It starts as an `app` (of the grid, or the subject of a study), or by a `command`, or it is `running` already. With none of them it
 * is an NGINX that is alone, or a probe starts it. What is started is started afresh for every heat.
 */
export interface System {
  /** As tables name it: 30 characters at most. */
  title: string
  app?: Program
  command?: Command
  /** Where a server listens that somebody else started: `http://10.0.0.9:3000`. Nothing of it is stopped. */
  running?: string
  /** What tells that it still responds, with any status. */
  ready?: Asked
  /** What a command was checked out from. */
  commit?: string
  /** With which versions of programs a command is started, as far as they are on the person's PATH: `node 22.15.0 and npm 10.9.2`. */
  tools?: string
  /** What the client talks to. Absent: the server itself. */
  nginx?: {
    front: FrontKind
    /** More for the server of a front that only studies need. */
    lines?: string
  }
  /**
   * The client speaks TLS, and the key is of this type. It ends at the NGINX, or at an app that finds the paths of its files in `CERTIFICATE` and
   * `KEY`. Only for fronts that only studies need.
   */
  tls?: KeyType
  /** Systems with the same key are one launch: `fastify/ssr`, directly and behind NGINX. Default: its own name. */
  launch?: string
  /** The launch key of the system that this one equals: A/A. */
  twinOf?: string
  /** Asked instead of what the race asks. */
  workload?: Workload
  /**
   * Why it cannot be measured on this machine, such as a program that a probe needs: a clause; null if it can. Then it is left out.
   * @param download whether that may be fetched
   */
  lacks?(download: boolean): string | null
  /**
   * Milliseconds of load that are discarded after each launch, for each core that it can use: where its measured profile is longer than
   * that of its framework in the grid.
   */
  warmupMs?: number
  /** Requests after which it is warm, where that is known; default 0. A machine that is slower than that takes up to twice the time. */
  warmupRequests?: number
  /** Cores that its processes can keep busy; default 1. With fewer, claims about it are undecided. */
  cores?: number
  /** False where the rate is not to be limited by the server's cores, such as a slow generator. Default true. */
  serverBound?: boolean
}

/** A program that is started as the apps of the grid are: `node src/server.ts ROLE`, ready with its first line. */
export interface Program {
  /** Its directory in the repository: `apps/koa`, `bench/studies/NAME/subjects/node`. */
  package: string
  role: string
  env?: Readonly<Record<string, string>>
  /** Options of Node or Bun: `--jitless`. */
  flags?: readonly string[]
  /** Default: Bun for a package of that name, else Node. */
  runtime?: 'node' | 'bun'
  /** Processes, each on a port of its own, for an NGINX of kind `balanced`. Default 1. */
  copies?: number
}

/**
 * How NGINX responds: through one of the topologies, by SCGI, to several copies in turn, with a bare `proxy_pass`, or alone with
 * `return 200`.
 */
export type FrontKind =
  | 'nginx'
  | 'nginx-naive'
  | 'nginx-tls'
  | 'balanced'
  | 'bare'
  | 'bare-naive'
  | 'bare-naive-socket'
  | 'scgi-socket'
  | 'return-200'

/** What is asked of an app, and what a right response is. */
export interface Workload extends Asked {
  /** Slices are open loops of so many requests per second. What they cost is then the figure: the client may be the limit. Default: closed loop. */
  rate?: number
  /** A connection for each request. */
  newConnections?: true
  expect: BodyExpectation
  /** Default 200. */
  status?: number
  /** Drawn at random for each request, as often as their weights say; the path above is the first one. */
  mix?: readonly { path: string; weight: number; expect: BodyExpectation }[]
  /** It says all that is known of the response: the length is not learnt besides. */
  isProven?: true
  /** Asks again, after wrong bodies. @returns whether only what had not changed before is different, and is compared no longer */
  learnAgain?(target: Target): Promise<boolean>
}

export type Race = LoadRace | ProbeRace

/** Systems under the same load. */
export interface LoadRace {
  systems: readonly string[]
  workload: Workload
  /** Requests per second of the open loop; default: half of what the slowest can do in the first heat. */
  openRate?: number
  /** By system, where their right responses differ. Goes before all else. */
  workloads?: Readonly<Record<string, Workload>>
  /** Kept open, each with one request in flight. */
  connections: number
  /** Milliseconds of a slice at least; default by profile. */
  sliceMs?: number
  /**
   * Whose latency is measured as well: in open loop, after the slices, all at the same rate. That is half of what the slowest of those
   * can do that a claim about latency names (without such a claim: of all of these).
   */
  openLoop?: readonly string[]
  /** Its apps are ranked, each topology by itself: then they are compared within it alone. Default: all with each other. */
  ranks?: true
}

/** Systems that are measured one after the other by a program of their own, instead of by load. */
export interface ProbeRace {
  systems: readonly string[]
  /** The source's own command. Without a claim that it decides, it runs only with `--as-published`. */
  tool?: string
  /**
   * Starts one system afresh, measures it, and ends it.
   * @throws {Error} with a sentence, if it cannot be measured
   */
  probe(system: string, context: ProbeContext): Promise<Figures>
  /** What one probe takes, in milliseconds. */
  expectedMs: number
}

export interface ProbeContext {
  signal: AbortSignal
  /** From 1. */
  heat: number
  /** `--quick`: a shorter measurement will do. */
  quick: boolean
  /** Starts the system on all cores. @throws {Error} with a sentence */
  start(): Promise<{ target: Target; stop(): Promise<unknown> }>
}

/** What one launch measured. */
export type Figures = Partial<Record<Metric, number>>

/** A ratio that the source published, and the cells that it is tested on. */
export interface Claim {
  /** Short and lasting, within the study: `naive-over-direct`. */
  id: string
  /** What the source says, as one clause. */
  says: string
  race: string
  /** The race of `under`, where it is another one: a probe and a load may be compared. */
  against?: string
  metric: Metric
  /** Names of systems: `over` / `under`. */
  over: string
  under: string
  /** The published figures, in the same order and any one unit: the ratio is their quotient. */
  published: readonly [over: number, under: number]
  /** Why it comes out as it does, where figures do not say it: a sentence. */
  because?: string
}

/** What one thing costs: CPU per request of `to` less that of `from`. */
export interface Step {
  /** `a new connection for every request` */
  what: string
  race: string
  from: string
  to: string
  /** Its table has ratios of these instead: `to` over `from`. */
  ratios?: readonly Metric[]
}

/** CPU per request of ways to serve, as a + b × amount of work, and differences of pairs that were chosen before: never the best against the worst. */
export interface Costs {
  /** What a request is: `hello`, `a page`. */
  title: string
  race: string
  /** What the amounts count: `item`. Absent: there is one amount. */
  unit?: string
  /** The amount that the picture shows. */
  shown: number
  /** By name, the systems by amount. */
  lines: Readonly<Record<string, Readonly<Record<number, string>>>>
  /** Names of lines: how much more the first costs than the second. */
  pairs: readonly (readonly [over: string, under: string])[]
  /** The pair of the headline. */
  headline?: readonly [over: string, under: string]
}

export function isProbe(race: Race): race is ProbeRace {
  return !('workload' in race)
}

export function isRanked(race: Race | undefined): boolean {
  return race !== undefined && !isProbe(race) && race.ranks === true
}

/** The published ratio. */
export function publishedRatio({ published: [over, under] }: Pick<Claim, 'published'>): number {
  return over / under
}
