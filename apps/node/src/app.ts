import { createServer, type Server } from 'node:http'
import { createLoadShedder } from '#shared/http/load-shedding.ts'
import { protect, SERVER_OPTIONS } from '#shared/http/protect.ts'
import { SecureResponse } from '#shared/http/secure-response.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { Context } from './context.ts'
import { accessLog } from './plugins/access-log.ts'
import { errors } from './plugins/errors.ts'
import { health } from './plugins/health.ts'
import { createRouter, type Route } from './router.ts'

/** Does the work of a framework. A request meets the plugins in this order. */
export function createApp(options: AppOptions, routes: readonly Route[]): Server {
  const { config, health: state, log } = options
  const logResponses = accessLog(log)
  const services = {
    log,
    health: state,
    trustProxy: config.trustProxy,
    shouldShed: createLoadShedder(config.maxQueueWaitMs),
  }
  const handle = createRouter([...health(state), ...routes])

  const server = createServer({ ...SERVER_OPTIONS, ServerResponse: SecureResponse }, (request, response) => {
    const context = new Context(request, response, services)
    logResponses(context)
    try {
      // A handler that is not async needs no promise.
      handle(context)?.catch((error: unknown) => errors(context, error))
    } catch (error) {
      errors(context, error)
    }
  })
  return protect(server, options)
}
