import type { BunRequest, Server } from 'bun'

/** A handler's result. It is undefined after `server.upgrade()`. */
export type Result = Response | undefined

/** A handler of `Bun.serve`, whatever the data of its WebSockets. */
export type Handler = (request: BunRequest<string>, server: Server<never>) => Result | Promise<Result>
