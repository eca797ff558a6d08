import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import type { Profiler as Cpu, HeapProfiler, Runtime } from 'node:inspector'
import { SourceMap, type SourceMapping } from 'node:module'
import { createServer, type Socket } from 'node:net'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Guard } from '@startgrid/machine/guard.ts'
import { readOr } from '@startgrid/machine/proc.ts'
import { personsEnvironment } from '@startgrid/servers/program.ts'
import { type Frame, mergeTrees, type Tree } from '../../result/profile.ts'

/** What profiles a command: Node's own profiler, in every thread that loads our preload by NODE_OPTIONS. */
export interface Profiler {
  /** Of the command. */
  env: Readonly<Record<string, string>>
  /** Those that loaded it and are still there. */
  threads(): readonly Thread[]
  start(kind: ProfileKind): Promise<void>
  /** What all threads did since. */
  stop(kind: ProfileKind): Promise<Tree>
  close(): void
}

export type ProfileKind = keyof typeof CALLS

export interface Thread {
  pid: number
  tid: number
  /** Of Node. */
  version: string
}

interface Connected extends Thread {
  frameOf(called: Runtime.CallFrame): Pick<Frame, 'name' | 'file' | 'line'>
  ask(call: Call): Promise<Profile>
}

/** Of the CPU, nodes with the numbers of their children; of the heap, the first one with them. */
type Profile = Partial<Cpu.Profile & HeapProfiler.SamplingHeapProfile>
type Node = Cpu.ProfileNode | HeapProfiler.SamplingHeapProfileNode

/** Of the inspector. */
type Call = readonly [method: string, parameters?: object]

const COLLECTED = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }

/** Microseconds between samples: 100 cost half of the CPU time again, 500 nothing that was measured. Bytes between those of the heap. */
const CALLS = {
  cpu: [
    ['Profiler.enable'],
    ['Profiler.setSamplingInterval', { interval: 250 }],
    ['Profiler.start'],
    ['Profiler.stop'],
  ],
  heap: [
    ['HeapProfiler.startSampling', { samplingInterval: 8192, ...COLLECTED }],
    ['HeapProfiler.stopSampling'],
  ],
} satisfies Record<string, Call[]>

const PRELOAD = fileURLToPath(new URL('profiler-preload.cjs', import.meta.url))

/** Listens on a unix socket for one start of a command. */
export async function openProfiler(guard: Guard): Promise<Profiler> {
  // A long path, as in a job's TMPDIR, is no address of a unix socket.
  const directory = mkdtempSync('/tmp/startgrid-profiler-')
  guard.add({ directory })
  const path = join(directory, 'socket')
  const threads = new Set<Connected>()
  const server = createServer((socket) => connect(socket, threads)).unref()
  await once(server.listen(path), 'listening')
  const { NODE_OPTIONS: own = '' } = personsEnvironment()
  const profilesOf = (calls: readonly Call[]) =>
    Promise.all(
      [...threads].map(async (thread) => {
        const asked = await Promise.all(calls.map((call) => thread.ask(call)))
        return treeOf(asked.at(-1) ?? {}, thread)
      }),
    )
  return {
    env: {
      NODE_OPTIONS: `${own} --require ${JSON.stringify(PRELOAD)}`.trim(),
      STARTGRID_PROFILER: path,
    },
    threads: () => [...threads],
    start: async (kind) => void (await profilesOf(CALLS[kind].slice(0, -1))),
    stop: async (kind) => mergeTrees(await profilesOf(CALLS[kind].slice(-1))),
    close: () => {
      server.close()
      rmSync(directory, { recursive: true, force: true })
      guard.remove({ directory })
    },
  }
}

/** A line each way. The first one says who it is. */
function connect(socket: Socket, threads: Set<Connected>): void {
  const waiting: ((profile: Profile) => void)[] = []
  let thread: Connected | undefined
  let rest = ''
  socket.setEncoding('utf8').unref()
  socket.on('error', () => {})
  socket.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const said = JSON.parse(line)
      if (thread === undefined) {
        const ask = (call: Call) =>
          new Promise<Profile>((done) => {
            waiting.push(done)
            socket.write(`${JSON.stringify(call)}\n`)
          })
        thread = { ...(said as Thread), ask, frameOf: framesOf(said) }
        threads.add(thread)
      } else waiting.shift()?.(said)
    }
  })
  socket.on('close', () => {
    if (thread !== undefined) threads.delete(thread)
    for (const done of waiting) done({})
  })
}

/** Without what was idle, and without our own work but for what stands in for a builtin. */
function treeOf({ nodes = [], head }: Profile, { frameOf, version }: Connected): Tree {
  const frames: Frame[] = []
  // Before Node 20, V8 leaves out what was collected.
  const root = nodes[0] ?? (Number.parseInt(version, 10) < 20 ? undefined : head)
  const byId = new Map<number, Node>(nodes.map((node) => [node.id, node]))
  const visit = (child: Node | number, parent: number) => {
    const node = typeof child === 'number' ? byId.get(child) : child
    if (node === undefined || node.callFrame.functionName === '(idle)') return
    const { callFrame, children = [] } = node
    const isOurs = callFrame.url.endsWith('/profiler-preload.cjs')
    if (isOurs && callFrame.functionName !== 'setPrototypeOf') return
    const frame = isOurs ? { name: callFrame.functionName, file: '', line: 0 } : frameOf(callFrame)
    const count = ('selfSize' in node ? node.selfSize : node.hitCount) ?? 0
    const place = frames.push({ ...frame, parent, count }) - 1
    for (const one of children) visit(one, place)
  }
  for (const child of root?.children ?? []) visit(child, -1)
  return frames
}

/** Names functions as their project does: by its own files where a source map tells, and without a path of this machine. */
function framesOf({ cwd, entry }: { cwd: string; entry: string }): Connected['frameOf'] {
  const isOwn = entry !== '' && !entry.includes('/node_modules/')
  const roots = [...(isOwn ? [dirname(resolve(cwd, entry))] : []), cwd].map(rootOf)
  const maps = new Map<string, SourceMap | null>()
  return ({ functionName: name, url, lineNumber: line, columnNumber: column }) => {
    const plain = { name: name || '(anonymous)', file: placeOf(url, roots), line: line + 1 }
    const path = pathOf(url)
    if (!isAbsolute(path) || path.includes('/node_modules/')) return plain
    const map = maps.get(path) ?? sourceMapOf(path)
    maps.set(path, map)
    const found = map?.findEntry(line, column) as Partial<SourceMapping & { name: string }> | undefined
    if (!map || found?.originalSource === undefined) return plain
    const { originalSource, originalLine, originalColumn } = found
    const { sources, sourcesContent } = map.payload
    const source = originalSource.replace(/^webpack:\/\/[^/]*\//, `${roots[0]}/`)
    const text = sourcesContent?.[sources.indexOf(originalSource)]?.split('\n')[originalLine ?? 0]
    const declared = /^(?:async\s+)?function[\s*]+([\w$]+)/.exec(text?.slice(originalColumn) ?? '')?.[1]
    return {
      // Minifiers drop the name of a function that does not use it.
      name: found.name ?? declared ?? plain.name,
      file: placeOf(resolve(dirname(path), pathOf(source)), roots),
      line: 1 + (originalLine ?? 0),
    }
  }
}

function sourceMapOf(path: string): SourceMap | null {
  const named = /^.*\n\/\/# sourceMappingURL=(data:[^,]*;base64,)?(\S+)\s*$/s
  return readOr(null, () => {
    const [, data, at = ''] = named.exec(readFileSync(path, 'utf8')) ?? []
    const file = resolve(dirname(path), decodeURI(at))
    return new SourceMap(JSON.parse(data ? Buffer.from(at, 'base64').toString() : readFileSync(file, 'utf8')))
  })
}

function pathOf(url: string): string {
  return url.startsWith('file:') ? fileURLToPath(url.replace(/[?#].*/, '')) : url
}

/** Nothing of what stands before the project, of a query, or of code in a `data:` URL. */
function placeOf(url: string, roots: readonly string[]): string {
  if (url === '' || url.startsWith('node:')) return url
  const path = pathOf(url)
  if (!isAbsolute(path)) return '(generated)'
  const modules = path.lastIndexOf('/node_modules/')
  if (modules >= 0) return path.slice(modules + 1)
  const lengths = roots.map((root) => (path.startsWith(`${root}/`) ? root.length + 1 : 0))
  return path.slice(Math.max(...lengths)).replace(/^\/.*\//, '')
}

/** The repository, or else the nearest package. Modules have the real paths of their files. */
function rootOf(path: string): string {
  const directory = existsSync(path) ? realpathSync(path) : path
  const above: string[] = []
  for (let at = directory; at !== dirname(at); at = dirname(at)) above.push(at)
  const has = (name: string) => above.find((at) => existsSync(join(at, name)))
  return has('.git') ?? has('package.json') ?? directory
}

/** Whether a process runs Node. */
export function isNode(pid: number): boolean {
  return basename(readOr('', () => readlinkSync(`/proc/${pid}/exe`))) === 'node'
}
