/** What a child process of qoper8-cp does. */
export function handler(_message: object, finished: (reply: object) => void): void {
  finished({ hello: 'world' })
}

/** Called at its start: it would stay when its server is gone. */
export function onStartupModule(): void {
  process.once('disconnect', () => process.exit())
  if (!process.connected) process.exit() // it ended before this one could hear of it
}
