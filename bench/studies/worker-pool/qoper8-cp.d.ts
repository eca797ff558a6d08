/** The used part of https://github.com/robtweed/qoper8-cp, which has no types of its own. */
declare module 'qoper8-cp' {
  interface Module {
    module: string
    /** The directory of it. */
    path: string
    arguments?: Record<string, string>
  }

  interface Options {
    poolSize: number
    /** At most this many workers, whatever `poolSize` says; 32 by default. */
    maxPoolSize: number
    /** Milliseconds a handler may take. */
    handlerTimeout?: number
    /** Minutes after which an idle worker is stopped. */
    workerInactivityLimit?: number
    /** What a message is handled by, by its `type`: the module's export `handler`. */
    handlersByMessageType: Map<string, Module>
    /** Its export `onStartupModule` is called in every worker at first. */
    onStartup?: Module
  }

  interface Reply {
    error?: string
    /** Only in the first response of a worker. */
    pid?: number
    [property: string]: unknown
  }

  export class QOper8 {
    constructor(options: Options)
    message(message: { type: string; [property: string]: unknown }, callback: Callback): void
    getQueueLength(): number
    /** Ends workers as they become idle. What waits is never handled. */
    stop(): Promise<void>
    /** One listener per type. */
    on(type: 'sentToWorker', listener: (sent: { workerId: number }) => void): void
    on(type: 'replyReceived', listener: (received: { reply: Reply; workerId: number }) => void): void
  }

  /** @param workerId undefined if no worker had the message */
  type Callback = (reply: Reply, workerId: number | undefined) => void
}
