/**
 * What `make` makes, once in a page: the script of terminals, what stands before it and React's are built apart, so a
 * module may exist there several times.
 */
export const pageGlobal = <T>(name: string, make: () => T): T => {
  const key = Symbol.for(`devdeck.${name}`)
  const holder = globalThis as { [key]?: T }
  holder[key] ??= make()
  return holder[key]
}
