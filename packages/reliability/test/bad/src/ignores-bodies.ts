import { createServer, type Server } from 'node:net'

/** Takes whatever follows a header section for the next request: the body that a proxy sends is one. */
export function createDefect(): Server {
  return createServer((socket) => {
    let text = ''
    socket.setEncoding('latin1').on('error', () => {})
    socket.on('data', (bytes: string) => {
      text += bytes
      const sections = text.split('\r\n\r\n')
      text = sections.pop() ?? ''
      for (const section of sections) socket.write(respond(section))
    })
  })
}

function respond(section: string): string {
  const target = section.split(' ')[1] ?? ''
  const id = /^x-request-id: *(.*)$/im.exec(section)?.[1] ?? 'none'
  process.stdout.write(`${JSON.stringify({ msg: 'request completed', requestId: id, path: target })}\n`)
  const status = target === '/livez' ? '200 OK' : '404 Not Found'
  return `HTTP/1.1 ${status}\r\nx-request-id: ${id}\r\ncontent-length: 0\r\n\r\n`
}
