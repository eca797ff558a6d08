import { endWithParent } from './end-with-parent.ts'

/** What qoper8-cp loads in its child processes; it calls both functions by name. */

type Tasks = Readonly<Record<string, (input: unknown) => unknown>>

let tasks: Tasks = {}

/** @param tasks the URL of the module with the tasks */
export async function onStartupModule({ tasks: url }: { tasks: string }): Promise<void> {
  endWithParent()
  // Ctrl-C and systemd signal the whole group, but there may be tasks to finish; qoper8-cp's own listener prints.
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal).on(signal, () => {})
  tasks = (await import(url)) as Tasks
}

/** An error must not get out: qoper8-cp would then forget this process without ending it, and start another one. */
export async function handler(
  { name, input }: { name: string; input: unknown },
  finished: (reply: { result: unknown } | { failure: unknown }) => void,
): Promise<void> {
  try {
    finished({ result: await tasks[name]?.(input) })
  } catch (failure) {
    finished({ failure })
  }
}
