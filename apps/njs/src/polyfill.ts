// njs removes the global `Function` from QuickJS, but React reads `Function.prototype` while it loads.
globalThis.Function ??= Object.getPrototypeOf(() => {}).constructor
