/** Of an xterm terminal: tells of each character how wide it is and whether it joins the one before. */
interface Provider {
  readonly version: string
  wcwidth(code: number): 0 | 1 | 2
  charProperties(code: number, preceding: number): number
}

/** Text that means something has fewer on one letter; the longest emoji has ten parts. */
const maxJoined = 50

/** As xterm packs what it knows of a character: the lowest bit. */
const joins = 1

/**
 * Has a character that joins too many others stand in a cell of its own. A devbox could otherwise print accents without
 * end onto one letter, and xterm would keep them all. Both the console's server and its pages do this, or their screens
 * would differ.
 */
export const boundClusters = (terminal: {
  unicode: { register(provider: Provider): void; activeVersion: string }
}): void => {
  const { _core: core } = terminal as unknown as { _core: { unicodeService: { _activeProvider: Provider } } }
  const provider = core.unicodeService._activeProvider
  const version = `${provider.version}-bounded`
  let joined = 0
  terminal.unicode.register({
    version,
    wcwidth: (code) => provider.wcwidth(code),
    charProperties(code, preceding) {
      const properties = provider.charProperties(code, preceding)
      if ((properties & joins) === 0) {
        joined = 0
        return properties
      }
      if (++joined <= maxJoined) return properties
      joined = 0
      return provider.charProperties(code, 0)
    },
  })
  terminal.unicode.activeVersion = version
}
