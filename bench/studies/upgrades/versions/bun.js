Bun.serve({
  port: process.env.PORT,
  hostname: process.env.HOST,
  fetch: () => new Response('Hello World!'),
})
