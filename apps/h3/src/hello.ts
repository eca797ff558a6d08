import { getRouterParam, H3 } from 'h3'

export const hello = new H3()
  .get('/', () => 'Hello World!')
  .get('/json', () => ({ hello: 'world' }))
  // The option `decode` of h3 leaves %2F as it is.
  .get('/hello/:name', (event) => `Hello, ${decodeURIComponent(getRouterParam(event, 'name') ?? '')}!`)
