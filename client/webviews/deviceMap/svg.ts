/** Makes elements of SVG and HTML; attributes that are `undefined` are left out. */

type Attributes = Record<string, string | number | undefined>;

export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[Name] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  return finish(element, attributes, children);
}

export function html<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  return finish(document.createElement(name), attributes, children);
}

function finish<E extends Element>(
  element: E,
  attributes: Attributes,
  children: (Node | string)[],
): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  element.append(...children);
  return element;
}

/** Measures text in a font of the page. */
export function ruler(font: string): (text: string) => number {
  const context = document.createElement('canvas').getContext('2d');
  if (context === null) {
    return (text) => text.length * 8;
  }
  context.font = font;
  return (text) => context.measureText(text).width;
}
