/** Styles are bundled by their import. */
declare module '*.css';
