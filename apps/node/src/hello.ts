import { route } from './router.ts'

export const hello = [
  route('GET', '/', (context) => context.text('Hello World!')),

  route('GET', '/json', (context) => context.json({ hello: 'world' })),

  route('GET', '/hello/:name', (context) => context.text(`Hello, ${context.params.name}!`)),
]
