import { Guard } from '@startgrid/machine/guard.ts'
import { startCommand } from '../../../src/servers/command/server.ts'

/** A run that a test kills: starts a command, and says the first part of its mark. */
const [, , directory = '', line = ''] = process.argv
const guard = new Guard()
const ready = { method: 'GET', path: '/', headers: {} }
await startCommand(
  { command: line, directory, ready, readyTimeoutMs: 60_000 },
  { guard, cpus: undefined, signal: new AbortController().signal, tell: () => {}, isElsewhere: () => {} },
)
process.stdout.write(`${guard.run}\n`)
