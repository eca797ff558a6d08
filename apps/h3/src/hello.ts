import { getRouterParam, H3 } from 'h3'

export const hello = new H3()
  .get('/', () => 'Hello World!')
  .get('/json', () => ({ hello: 'world' }))
  .get('/hello/:name', (event) => `Hello, ${getRouterParam(event, 'name', { decode: true })}!`)
