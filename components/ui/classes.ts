/** Joins class names, leaving out what is false or absent. */
export const classes = (...names: (string | false | null | undefined)[]) => {
  let joined = ''
  // Not by filter and join: a screen of rows asks for hundreds with each frame, and each would leave two arrays behind.
  for (const name of names) if (name) joined = joined ? `${joined} ${name}` : name
  return joined
}
