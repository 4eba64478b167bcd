// Who is signed in, as a part of the names that what they type is kept under: others
// may use this browser, too. Where nobody signs in it is empty.

const person = globalThis.document?.documentElement.dataset.person;

export const whose = person ? `${person}.` : "";
