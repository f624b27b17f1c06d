//! MNIST from its idx files.

use anyhow::{Context, Result, bail, ensure};
use std::path::Path;
use triview::lab::Images;

/// Digits.
const CLASSES: usize = 10;

/// Reads the images and labels of a part of MNIST, `train` or `t10k`, from the folder of `scripts/mnist.sh`.
pub(crate) fn read(folder: &Path, part: &str) -> Result<Images> {
    let images = folder.join(format!("{part}-images-idx3-ubyte"));
    let labels = folder.join(format!("{part}-labels-idx1-ubyte"));
    let (sizes, pixels) = idx::<3>(&images)?;
    let ([count], labels) = idx::<1>(&labels)?;
    let [images, height, width] = sizes;
    ensure!(images == count, "{images} images in `{part}`, but {count} labels");
    ensure!(height == width, "the images of `{part}` are {height} x {width}, not square");
    let pixels = pixels.iter().map(|&byte| f32::from(byte) / 255.0).collect();
    Ok(Images::new(width, pixels, labels, CLASSES)?)
}

/// An idx file of bytes with `N` dimensions: a magic number (0, 0, type, dimensions), each dimension as a
/// big-endian 32-bit number, and the bytes.
fn idx<const N: usize>(path: &Path) -> Result<([usize; N], Vec<u8>)> {
    let bytes = std::fs::read(path)
        .with_context(|| format!("cannot read {}; scripts/mnist.sh obtains MNIST", path.display()))?;
    parse(&bytes).with_context(|| format!("{} is not the idx file expected", path.display()))
}

fn parse<const N: usize>(bytes: &[u8]) -> Result<([usize; N], Vec<u8>)> {
    let (words, _) = bytes.as_chunks::<4>();
    let Some(([magic, sizes @ ..], body)) = words.get(..=N).zip(bytes.get(4 * (N + 1)..)) else {
        bail!("it ends within its header, after {} bytes", bytes.len());
    };
    ensure!(
        *magic == [0, 0, 8, N as u8],
        "it begins with {magic:?}, where bytes in {N} dimensions begin with {:?}",
        [0, 0, 8, N as u8]
    );
    let sizes: [usize; N] = std::array::from_fn(|d| u32::from_be_bytes(sizes[d]) as usize);
    let needed = sizes.iter().try_fold(1usize, |product, size| product.checked_mul(*size));
    ensure!(needed == Some(body.len()), "its header announces {sizes:?} bytes, {} follow", body.len());
    Ok((sizes, body.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with two 2 x 2 images of each digit.
    fn folder() -> (tempfile::TempDir, Vec<u8>, Vec<u8>) {
        let header = |sizes: &[u8]| -> Vec<u8> {
            let dimensions = sizes.iter().flat_map(|&size| [0, 0, 0, size]);
            [0, 0, 8, sizes.len() as u8].into_iter().chain(dimensions).collect()
        };
        let images: Vec<u8> = header(&[20, 2, 2]).into_iter().chain([0, 51, 102, 255].repeat(20)).collect();
        let labels: Vec<u8> = header(&[20]).into_iter().chain((0..20).map(|i| i % 10)).collect();
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), &images, &labels);
        (folder, images, labels)
    }

    fn write(folder: &Path, images: &[u8], labels: &[u8]) {
        std::fs::write(folder.join("train-images-idx3-ubyte"), images).expect("written");
        std::fs::write(folder.join("train-labels-idx1-ubyte"), labels).expect("written");
    }

    fn refused(folder: &Path, message: &str) {
        let error = format!("{:#}", read(folder, "train").expect_err("refused"));
        assert!(error.contains(message), "{error}");
    }

    #[test]
    fn images_are_read() {
        let (folder, ..) = folder();
        let images = read(folder.path(), "train").expect("images");
        assert_eq!((images.len(), images.side(), images.classes()), (20, 2, 10));
        assert_eq!(images.image(19), [0.0, 0.2, 0.4, 1.0]);
    }

    #[test]
    fn each_fault_is_named() {
        let (folder, images, labels) = folder();
        let folder = folder.path();
        write(folder, &images[..10], &labels);
        refused(folder, "ends within its header, after 10 bytes");
        write(folder, &images[..images.len() - 1], &labels);
        refused(folder, "announces [20, 2, 2] bytes, 79 follow");
        write(folder, &labels, &images);
        refused(folder, "bytes in 3 dimensions begin with");
        write(folder, &images, &[&[0, 0, 8, 1, 0, 0, 0, 1], &[7u8][..]].concat());
        refused(folder, "20 images in `train`, but 1 labels");
        std::fs::remove_file(folder.join("train-images-idx3-ubyte")).expect("removed");
        refused(folder, "scripts/mnist.sh obtains MNIST");
    }
}
