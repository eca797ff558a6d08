// njs removes the global `Function` from QuickJS, but React reads `Function.prototype` while it loads. So this is imported before
// React. (Only React's streaming renderer needs MessageChannel, performance and AbortController.)
globalThis.Function ??= Object.getPrototypeOf(() => {}).constructor
