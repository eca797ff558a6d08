export const status = () => ({
  '/_/status': { GET: () => new Response('OK') },
})
