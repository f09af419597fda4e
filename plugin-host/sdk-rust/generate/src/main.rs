//! Writes src/wire/*.rs from a descriptor set of the protos: `generate DESCRIPTOR_SET FOLDER`. See ../generate.sh.
use prost::Message;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(descriptors), Some(folder)) = (args.next(), args.next()) else {
        return Err("usage: generate DESCRIPTOR_SET FOLDER".into());
    };
    let set = prost_types::FileDescriptorSet::decode(std::fs::read(descriptors)?.as_slice())?;
    tonic_prost_build::configure()
        .out_dir(folder)
        .build_client(true)
        .build_server(true)
        .compile_fds(set)?;
    Ok(())
}
