import Fastify from 'fastify'

const app = Fastify()
app.get('/json', () => ({ hello: 'world' }))
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
