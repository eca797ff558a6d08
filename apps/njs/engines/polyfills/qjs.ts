// njs leaves the global `Function` out of QuickJS; React reads `Function.prototype`. Imported before React, which needs
// it to load. (MessageChannel, performance and AbortController are needed by React's streaming renderer only.)
globalThis.Function ??= Object.getPrototypeOf(() => {}).constructor
