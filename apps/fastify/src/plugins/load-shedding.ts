import type { onRequestAsyncHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { createLoadShedder } from '#shared/http/load-shedding.ts'
import { RETRY_AFTER } from '#shared/http/overload.ts'
import { createProblem, PROBLEM_JSON } from '#shared/http/problem.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** An `onRequest` hook for expensive routes: 503 while too many requests wait. */
    shedLoad: onRequestAsyncHookHandler
  }
}

/** Decides per request. @fastify/under-pressure measures once per second, and then refuses all requests or none. */
export default fp<{ maxQueueWaitMs: number }>(async (app, { maxQueueWaitMs }) => {
  const shouldShed = createLoadShedder(maxQueueWaitMs)

  app.decorate('shedLoad', async (_request, reply) => {
    if (!(await shouldShed(reply.raw))) return
    // Not an error: it would be logged as a failure.
    return reply.code(503).header('retry-after', RETRY_AFTER).type(PROBLEM_JSON).send(createProblem(503))
  })
})
