//! The layers of the core: a module uses only those above it in `lib.rs`, and the picture in `docs/layers.svg` is drawn from the same
//! list. `TRIVIEW_DRAW=1 cargo test -p triview --test layers` draws it anew.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn crate_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The modules in the order of `lib.rs`.
fn layers() -> Vec<String> {
    let lib = fs::read_to_string(crate_folder().join("src/lib.rs")).expect("lib.rs");
    let module = |line: &str| {
        let rest = line.strip_prefix("pub ").unwrap_or(line).strip_prefix("mod ")?;
        rest.strip_suffix(';').map(str::to_owned)
    };
    lib.lines().filter_map(module).collect()
}

/// Every Rust file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The module that a file belongs to: its folder below `src`, or itself.
fn module_of(file: &Path) -> String {
    let below = file.strip_prefix(crate_folder().join("src")).expect("a file of src");
    let first = below.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

/// What a file uses of the crate, with the line: names after `crate::`, up to its tests, which may look for data anywhere.
fn uses(text: &str) -> Vec<(usize, String)> {
    let code = text.lines().enumerate().take_while(|(_, line)| !line.starts_with("#[cfg(test)]"));
    let code = code.filter(|(_, line)| !line.trim_start().starts_with("//"));
    let mut found = Vec::new();
    for (at, line) in code {
        for rest in line.split("crate::").skip(1) {
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.push((at + 1, name));
        }
    }
    found
}

#[test]
fn a_module_uses_only_those_above_it() {
    let layers = layers();
    assert!(layers.len() > 10, "{layers:?}");
    let place = |name: &str| layers.iter().position(|layer| layer == name);
    let mut upward = Vec::new();
    for file in files(&crate_folder().join("src")) {
        let own = module_of(&file);
        let Some(own_place) = place(&own) else {
            assert_eq!(own, "lib", "{} is in no layer", file.display());
            continue;
        };
        let text = fs::read_to_string(&file).expect("a file");
        for (line, name) in uses(&text) {
            // Errors and results stand at the root.
            if ["Error", "Result"].contains(&name.as_str()) {
                continue;
            }
            match place(&name) {
                Some(used) if used <= own_place => {}
                _ => upward.push(format!("{}:{line}: `{own}` uses `{name}`", file.display())),
            }
        }
    }
    assert!(upward.is_empty(), "modules may use those above them in lib.rs only:\n{}", upward.join("\n"));
}

/// What each layer is for: the first line of its documentation.
fn purpose(layer: &str) -> String {
    let src = crate_folder().join("src");
    let file = src.join(layer).join("mod.rs");
    let file = if file.exists() { file } else { src.join(format!("{layer}.rs")) };
    let text = fs::read_to_string(file).expect("a module");
    let mut line = String::new();
    for doc in text.lines().map_while(|line| line.strip_prefix("//!")) {
        write!(line, "{doc}").expect("a string");
        if let Some(end) = line.find(['.', ':', ',']) {
            line.truncate(end);
            break;
        }
    }
    line.trim().to_owned()
}

/// The layers from the top, one bar each.
fn draw(layers: &[String]) -> String {
    let (width, bar, step) = (760, 26, 32);
    let height = 20 + step * layers.len();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"14\">\n<title>The layers of the core</title>\n<desc>From the top: {}. Each uses only \
         those above it.</desc>\n<style>rect{{fill:#e8eef5;stroke:#5b7a99}} text{{fill:#1c2733}} @media (prefers-color-scheme: dark)\
         {{rect{{fill:#22303d;stroke:#7d9cbb}} text{{fill:#dfe8f1}}}}</style>\n",
        layers.join(", ")
    );
    for (at, layer) in layers.iter().enumerate() {
        let y = 10 + at * step;
        let _ = writeln!(
            svg,
            "<rect x=\"10\" y=\"{y}\" width=\"{}\" height=\"{bar}\" rx=\"4\"/><text x=\"22\" y=\"{}\" font-weight=\"bold\">{layer}</text>\
             <text x=\"130\" y=\"{}\">{}</text>",
            width - 20,
            y + 18,
            y + 18,
            purpose(layer).replace('&', "&amp;").replace('<', "&lt;")
        );
    }
    svg + "</svg>\n"
}

#[test]
fn the_picture_shows_the_layers() {
    let path = crate_folder().join("../../docs/layers.svg");
    let drawn = draw(&layers());
    if std::env::var_os("TRIVIEW_DRAW").is_some() {
        fs::write(&path, &drawn).expect("the picture is written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(committed, drawn, "draw it anew: TRIVIEW_DRAW=1 cargo test -p triview --test layers");
}
