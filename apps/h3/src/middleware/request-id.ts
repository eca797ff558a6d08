import { defineMiddleware } from 'h3'
import { requestId } from '#shared/request-id.ts'

declare module 'h3' {
  interface H3EventContext {
    requestId: string
  }
}

export const setRequestId = defineMiddleware(({ context, req, runtime }) => {
  context.requestId = requestId(req.headers.get('x-request-id'))
  runtime?.node?.res?.setHeader('x-request-id', context.requestId)
})
