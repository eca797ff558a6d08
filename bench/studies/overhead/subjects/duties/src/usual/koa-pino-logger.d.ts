declare module 'koa-pino-logger' {
  /** The package has no types. */
  export default function logger(options?: import('pino-http').Options): import('koa').Middleware
}
