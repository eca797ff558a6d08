/** Ends this child process with its parent, because the workers of qoper8-cp keep themselves alive. */
export function endWithParent(): void {
  process.once('disconnect', () => process.exit())
  if (!process.connected) process.exit() // it ended before this one could hear of it
}
