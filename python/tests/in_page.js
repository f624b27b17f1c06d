// What a test asks of a page: run by the test itself, as the page allows no script.
() => {
  const found = { overflow: [], contrast: [], outside: [], overlap: [], headings: [], pictures: [] };
  const name = (element) => `${element.tagName}.${element.getAttribute("class") || ""} ${(element.textContent || "").slice(0, 40)}`;
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) found.overflow.push(`the page is ${document.documentElement.scrollWidth} wide`);

  const rgb = (colour) => {
    const parts = (colour.match(/[\d.]+/g) || []).map(Number);
    return parts.length < 3 ? null : { rgb: parts.slice(0, 3), alpha: parts.length > 3 ? parts[3] : 1 };
  };
  const luminance = (parts) => {
    const [r, g, b] = parts.map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const cell = element.closest("svg g[class^='h']");
    if (cell && cell.querySelector("rect")) return rgb(getComputedStyle(cell.querySelector("rect")).fill).rgb;
    const paper = element.closest("svg") && element.ownerSVGElement.querySelector("rect.p");
    if (paper) return rgb(getComputedStyle(paper).fill).rgb;
    for (let at = element; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour && colour.alpha === 1) return colour.rgb;
    }
    return [255, 255, 255];
  };
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const box = element.getBoundingClientRect();
    if (!own || !box.width || ["title", "desc", "style", "caption"].includes(element.tagName.toLowerCase())) continue;
    if (box.right > wide + 1 && !element.closest(".scroll")) found.overflow.push(name(element));
    const style = getComputedStyle(element);
    const colour = rgb(element.ownerSVGElement ? style.fill : style.color);
    const [high, low] = [luminance(colour.rgb), luminance(behind(element))].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) found.contrast.push(`${ratio.toFixed(2)} ${name(element)}`);
  }
  for (const heading of document.querySelectorAll("h1,h2,h3,h4,h5,h6")) found.headings.push(Number(heading.tagName[1]));
  for (const svg of document.querySelectorAll("svg")) {
    const page = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].map((text) => ({ text, box: text.getBoundingClientRect() }));
    for (const { text, box } of texts) {
      if (box.left < page.left - 1 || box.right > page.right + 1 || box.top < page.top - 1 || box.bottom > page.bottom + 1) {
        found.outside.push(name(text));
      }
    }
    const level = texts.filter(({ text }) => !text.hasAttribute("transform"));
    level.forEach((one, at) => level.slice(at + 1).forEach((other) => {
      const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      const high = Math.min(one.box.height, other.box.height);
      if (across > 1 && down > 0.4 * high) found.overlap.push(`${name(one.text)} and ${name(other.text)}`);
    }));
    const figure = svg.closest("figure");
    const table = figure && figure.querySelector("table");
    found.pictures.push({
      role: svg.getAttribute("role"),
      title: svg.querySelector(":scope > title")?.textContent,
      desc: svg.querySelector(":scope > desc")?.textContent,
      rows: table ? table.querySelectorAll("tbody tr").length : 0,
      caption: table?.querySelector("caption")?.textContent,
    });
  }
  found.ink = luminance(rgb(getComputedStyle(document.body).color).rgb);
  found.paper = luminance(behind(document.body));
  return found;
}
