/**
 * Matches an expression that somebody typed. In a thread of its own, as nothing else ends one that backtracks for
 * years. It answers which of the texts match.
 */
self.onmessage = ({ data: { source, flags, texts } }) => {
  const pattern = new RegExp(source, flags)
  self.postMessage(texts.flatMap((text, at) => (text.search(pattern) < 0 ? [] : [at])))
}
self.postMessage('ready')
