/** What a child process of qoper8-cp does. */
export function handler(_message: object, finished: (reply: object) => void): void {
  finished({ hello: 'world' })
}

/** Called at its start. */
export { endWithParent as onStartupModule } from '../../end-with-parent.ts'
