/** Joins class names, skipping falsy ones. */
export const classes = (...names: (string | false | null | undefined)[]) => {
  let joined = ''
  // No filter and join: scrolling a table calls this hundreds of times per frame.
  for (const name of names) if (name) joined = joined ? `${joined} ${name}` : name
  return joined
}
