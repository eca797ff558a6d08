/** The used part of https://github.com/robtweed/qoper8-cp, which has no types of its own. */
declare module 'qoper8-cp' {
  interface Module {
    module: string
    /** The directory of it. */
    path: string
  }

  export class QOper8 {
    /**
     * - `handlersByMessageType`: what a message is handled by, by its `type`: the module's export `handler`
     * - `onStartup`: its export `onStartupModule` is called in every worker at first
     */
    constructor(options: {
      poolSize: number
      handlersByMessageType: Map<string, Module>
      onStartup: Module
    })
    message(message: { type: string }, callback: (reply: Record<string, unknown>) => void): void
  }
}

declare module 'qoper8-cp/benchmark' {
  /** Prints `Processing rate: 7,246.377 message/sec` at last. @param options `delay` in milliseconds between two blocks of messages */
  export function benchmark(options: {
    poolSize: number
    maxMessages: number
    blockLength: number
    delay: number
  }): void
}
