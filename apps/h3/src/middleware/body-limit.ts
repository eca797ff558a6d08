import { type H3Event, HTTPError } from 'h3'

/** The methods of a Request that read its body. */
const READERS = ['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'] as const

const isReader = (name: string | symbol): name is (typeof READERS)[number] =>
  READERS.some((reader) => reader === name)

/**
 * 413 for a larger body. h3's `bodyLimit` opens the body of every request, and what a route then leaves unread holds its connection. It also
 * loses the type of the body, which `formData()` needs. So this opens none: it believes an announced length, as Node enforces it.
 * @param limit bytes
 */
export function limitBody(event: H3Event, limit: number): void {
  const { headers, method } = event.req
  const length = headers.get('content-length')
  if (Number(length) > limit) throw tooLarge()
  if (length === null && method !== 'GET' && method !== 'HEAD')
    Object.assign(event, { req: countBytes(event.req, limit) })
}

/** The same request, whose body is counted when it is read. */
function countBytes(request: H3Event['req'], limit: number): H3Event['req'] {
  let body: Response | undefined
  const open = () => {
    let size = 0
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        size += chunk.length
        if (size > limit) controller.error(tooLarge())
        else controller.enqueue(chunk)
      },
    })
    const type = request.headers.get('content-type')
    // To cancel the rest would close the connection before the response.
    const stream = request.body?.pipeThrough(counter, { preventCancel: true }) ?? null
    body ??= new Response(stream, { headers: type === null ? {} : { 'content-type': type } })
    return body
  }
  return new Proxy(request, {
    get(target, name) {
      if (name === 'body') return (body ?? open()).body
      if (isReader(name)) return () => (body ?? open())[name]()
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const tooLarge = () => new HTTPError({ status: 413 })
