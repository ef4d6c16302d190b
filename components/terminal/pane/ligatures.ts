import type { Terminal } from '@xterm/xterm'

/** Sequences that fonts for code draw as one sign; the longest first, as one begins where another does. */
const sequences = `
  <!-- <==> <--> ||=> <||| |||> <~~> #_( ... ..< ..= === !== =/= <=> <-> <-- --> <== ==> >>= <<= >>>
  <<< >=> <=< >-> <-< |-> <-| |=> <=| ||= &&= <|> <|| ||> <$> <*> <+> *** +++ --- ::: ::= /// ### <~>
  ~~> <~~ www -> => <- == != <= >= := :: =: ++ -- ** && || // /* */ .. ?? ?. ?: !! << >> <| |> <> </
  /> ~> <~ ~~ ~= =~ -| |- |= &= += -= *= /= %= ^= ## #{ #( #[ {| |} [| |] ;; %% </>
`
  .trim()
  .split(/\s+/)
  .toSorted((a, b) => b.length - a.length)

const pattern = new RegExp(sequences.map((sequence) => sequence.replace(/[^\w]/g, '\\$&')).join('|'), 'g')

const joined = (text: string): [number, number][] =>
  [...text.matchAll(pattern)].map(({ 0: sequence, index }) => [index, index + sequence.length])

/** Has the terminal give such sequences to the font as a whole. Answers the call that ends it. */
export const joinLigatures = (terminal: Terminal): (() => void) => {
  const joiner = terminal.registerCharacterJoiner(joined)
  return () => terminal.deregisterCharacterJoiner(joiner)
}
